package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/cmd/internal/tour"
)

// The commands in the README print the output shown there. The test's server replaces the one that the README
// installs and starts.
func TestTour(t *testing.T) {
	long.Test(t)
	tour.Skip(t, "bash")
	bin := filepath.Dir(scripttest.Link(t, "sstcloud"))
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "sst"))
	build.Dir = "../../.."
	build.Env = append(os.Environ(), "GOWORK=") // sst is a module of the repository's go.work
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build of sst: %v\n%s", err, out)
	}
	for _, name := range []string{"go", "gofakes3"} {
		noError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o777))
	}
	tour.Check(t, "../../README.md", bin, "http://127.0.0.1:9917", s3test.Server())
}
