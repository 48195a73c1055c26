// Command sieve plans, measures and uses filters. It compares filters for a number of keys, measures their
// false-positive rates, and builds and queries filter files. "sieve help" lists its commands.
package main

import (
	"os"

	"github.com/sievetable/sievetable/table/cmd/sieve/internal/command"
)

func main() { os.Exit(command.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
