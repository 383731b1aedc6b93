package experiment

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/rpc/rpctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configOf loads a configuration without pages, as there is no HTTP in memory.
func configOf(t testing.TB, profile string, sets ...string) *conf.Config {
	t.Helper()
	c, err := conf.Load(profile, append([]string{`http.listen=""`}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// setting is a run that tells nobody.
func setting(t testing.TB, c *conf.Config, on string) Setting {
	t.Helper()
	return Setting{Conf: c, On: on, Dir: filepath.Join(t.TempDir(), "run"), Log: slog.New(slog.DiscardHandler)}
}

// inMemory does a run on the production services, over real Thrift in virtual time: the network takes none of it.
func inMemory(t *testing.T, s Setting, do func(ctx context.Context, s Setting) (Result, error)) (r Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		s.Network = network
		r, err = do(t.Context(), s)
		network.Wait()
	})
	return r, err
}

var _ assemble.Network = (*rpctest.Network)(nil)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
