// Command sstcloud is sst for sets of tables in object storage. It also uploads sets and deletes tables that no
// manifest lists. "sstcloud help" lists its commands.
package main

import (
	"os"

	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/command"
)

func main() { os.Exit(command.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
