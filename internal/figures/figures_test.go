package figures

import "testing"

func TestDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.00925: "0.00925", 0.5: "0.500", 3.14159: "3.14", 99.96: "100.0", 1234.5: "1234"} {
		if got := Digits(v); got != want {
			t.Errorf("Digits(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 10_000_000: "10,000,000"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
