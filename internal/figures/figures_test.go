package figures

import (
	"math"
	"testing"
)

func TestDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.00925: "0.00925", 0.5: "0.500", 3.14159: "3.14", 99.96: "100", 0.9999: "1.00", -2.5: "-2.50", 1234.5: "1234"} {
		if got := Digits(v); got != want {
			t.Errorf("Digits(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]string{0: "0", 1: "100", 0.154705: "15", 0.0996: "10", 0.00999: "1.0", 0.0104: "1.0", 0.00844: "0.84", 0.0000015: "0.00015"} {
		if got := Percent(rate); got != want {
			t.Errorf("Percent(%g) = %s, want %s", rate, got, want)
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

func TestRoundToUnit(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]uint64{
		0: 0, 999: 999, 1451: 1451, 9_999: 9_999, 10_499: 10_000, 14_500: 15_000, 999_499: 999_000, 999_500: 1_000_000,
		1_449_999: 1_449_999, 14_511_000: 15_000_000, math.MaxUint64: 18e18,
	} {
		if got := RoundToUnit(n); got != want {
			t.Errorf("RoundToUnit(%d) = %d, want %d", n, got, want)
		}
	}
}
