// Command sst builds, searches, checks and explains LevelDB's sorted-string tables: .ldb
// and .sst files. "sst help" lists its commands.
package main

import (
	"os"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/command"
)

func main() { os.Exit(command.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
