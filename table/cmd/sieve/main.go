// Command sieve plans, measures and uses filters: which one to take for a number of keys, how often it errs, and
// single filter files. "sieve help" lists its commands.
package main

import (
	"os"

	"github.com/sievetable/sievetable/table/cmd/sieve/internal/command"
)

func main() { os.Exit(command.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
