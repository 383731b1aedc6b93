"""Encryption: AES-128 in counter mode in pure Python (pyaes), there and back.

Measures the interpreter at integer operations on one core; memory does not matter.
"""

import random

import pyaes

from tasks.result import Result, digest, require

KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
COUNTER = int("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", 16)

# The first block of the test vector F.5.1 of NIST SP 800-38A, which has this key and counter.
KNOWN_TEXT = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
KNOWN_CIPHER = bytes.fromhex("874d6191b620e3261bef6864990db6ce")

# Bytes of a message, and messages one after the other.
MESSAGES = {"short": (10_000, 12), "medium": (10_000, 110), "long": (10_000, 320)}


def run(mode):
    length, rounds = MESSAGES[mode]
    require(crypt(KNOWN_TEXT) == KNOWN_CIPHER, "the test vector of SP 800-38A does not come out")
    generator, ciphers = random.Random(length), []
    for _ in range(rounds):
        text = generator.randbytes(length)
        ciphers.append(crypt(text))
        require(crypt(ciphers[-1]) == text, "decryption does not give the text back")
    return Result({"bytes": length * rounds}, digest(*ciphers))


def crypt(data):
    """Encrypts, or decrypts: in counter mode they are the same."""
    return pyaes.AESModeOfOperationCTR(KEY, counter=pyaes.Counter(COUNTER)).encrypt(data)
