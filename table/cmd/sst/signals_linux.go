//go:build !mips && !mipsle && !mips64 && !mips64le

package main

import "syscall"

func init() { allTerminatingSignals = append(allTerminatingSignals, syscall.SIGSTKFLT) }
