// Package machine describes the machine that a program runs on.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Describe describes this machine, as far as the system allows.
func Describe() [][2]string {
	return [][2]string{
		{"CPU", field("/proc/cpuinfo", "model name", ":")},
		{"cores", fmt.Sprint(runtime.NumCPU())},
		{"memory", gib(field("/proc/meminfo", "MemTotal", ":"))},
		{"system", strings.Trim(field("/etc/os-release", "PRETTY_NAME", "="), `"`) + ", " + runtime.GOOS + "/" + runtime.GOARCH},
		{"Go", runtime.Version()},
	}
}

// field returns the value of name in a file of names and values.
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

// gib converts kibibytes, as in /proc/meminfo, to gibibytes.
func gib(text string) string {
	var kib float64
	if _, err := fmt.Sscanf(text, "%f kB", &kib); err != nil {
		return text
	}
	return fmt.Sprintf("%.0f GiB", kib/(1<<20))
}
