package report

import "testing"

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ratios []float64
		words  words
		want   string
	}{
		{[]float64{5.02}, speed, "5 × faster than"},
		{[]float64{4.94}, speed, "4.9 × faster than"},
		{[]float64{28.4}, speed, "28 × faster than"},
		{[]float64{0.5}, speed, "2 × slower than"},
		{[]float64{0.33}, speed, "3 × slower than"},
		{[]float64{1}, speed, "as fast as"},
		{[]float64{1.04}, speed, "as fast as"},
		{[]float64{0.96, 1.03}, speed, "as fast as"},
		{[]float64{3.2, 1.5, 4.6}, speed, "1.5 to 4.6 × faster than"},
		{[]float64{3.21, 3.19}, speed, "3.2 × faster than"},
		{[]float64{0.98, 3}, speed, "1 to 3 × faster than"},
		{[]float64{0.5, 0.25}, speed, "2 to 4 × slower than"},
		{[]float64{0.8, 5}, speed, "from 1.2 × slower to 5 × faster than"},
		{[]float64{104.8}, amount, "105 × fewer"},
		{[]float64{0.1}, amount, "10 × more"},
		{[]float64{1.01}, amount, "as many"},
		{[]float64{10.3}, length, "10 × less"},
		{[]float64{0.5}, length, "2 × more"},
	} {
		if got := c.words.compare(c.ratios...); got != c.want {
			t.Errorf("compare(%v) = %q, want %q", c.ratios, got, c.want)
		}
	}
}
