// Package manual holds no code, only tests: they type what docs/jobs.md, docs/clients.md and docs/security.md tell people to type,
// and see whether what the pages show is what comes.
package manual
