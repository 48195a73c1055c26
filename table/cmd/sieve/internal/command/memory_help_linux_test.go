package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

func init() {
	programs["sieve-measured"] = func() {
		scripttest.Measured(func() int { return Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	}
}

// plan and rates take at most the memory stated in their help, on any number of processors.
func TestMemoryIsWhatTheHelpSays(t *testing.T) {
	long.Test(t)
	if long.Race {
		t.Skip("the race detector takes memory too")
	}
	t.Setenv("GOMAXPROCS", "32")
	dir := t.TempDir()
	var keys strings.Builder
	for i := range 2_900_000 {
		fmt.Fprintf(&keys, "%087d\n", i)
	}
	own := filepath.Join(dir, "own.txt")
	noError(t, os.WriteFile(own, []byte(keys.String()), 0o666))
	rates := []string{"rates", "-o", filepath.Join(dir, "rates"), "-n", "960000", "--lookups", "1000"}
	for _, tt := range []struct {
		name string
		args []string
		most int64
	}{
		{"plan", strings.Fields("plan -n 1e9 -p 1e-5 --key-size 1000 --table-size 4GiB --memory 8GB"), 600e6},
		{"rates of own keys", append(rates, "--keys-from", own, "--policy", "bloom", "--bits", "8", "--runs", "32"), 1200e6},
		{"rates of generated keys", append(rates, "--policy", "fuse", "--bits", "16", "--shapes", "urls", "--runs", "8"), 1200e6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, status, stderr := scripttest.Peak(t, "sieve-measured", nil, tt.args...) // TestMain decides by the name
			if status != 0 || got > tt.most {
				t.Errorf("status %d, %s; %d MB, want at most %d", status, stderr, got/1e6, tt.most/1e6)
			}
			t.Logf("%d MB", got/1e6)
		})
	}
}
