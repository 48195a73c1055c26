// Package day tests the life of a set: sst, sstcloud and a service run as separate processes, on a store that
// fails.
package day

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/command"
)

var noError = errtest.NoError

func TestMain(m *testing.M) {
	s3test.ServeIfAsked()
	testscript.Main(m, map[string]func(){
		"sstcloud": func() { os.Exit(command.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}
