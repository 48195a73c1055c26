// Package machine describes where a program runs.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Describe describes where this runs, as far as the system tells.
func Describe() [][2]string {
	return [][2]string{
		{"CPU", field("/proc/cpuinfo", "model name", ":")},
		{"cores", fmt.Sprint(runtime.NumCPU())},
		{"memory", gib(field("/proc/meminfo", "MemTotal", ":"))},
		{"system", strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`) + ", " + runtime.GOOS + "/" + runtime.GOARCH},
		{"Go", runtime.Version()},
	}
}

// field returns what stands behind the name in a file of names and values.
func field(file, name, separator string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if n, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(n) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// gib turns kibibytes, as in /proc/meminfo, into gibibytes.
func gib(text string) string {
	var kib float64
	if _, err := fmt.Sscanf(text, "%f kB", &kib); err != nil {
		return text
	}
	return fmt.Sprintf("%.0f GiB", kib/(1<<20))
}
