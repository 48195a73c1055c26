//go:build !mips && !mipsle && !mips64 && !mips64le

package cli

import "syscall"

func init() { allTerminatingSignals = append(allTerminatingSignals, syscall.SIGSTKFLT) }
