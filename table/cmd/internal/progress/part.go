package progress

// A Part is the part of the work that is for one file. It adds as much as was planned for the file, whatever
// is read of it.
type Part struct {
	add  func(int64) // of the Bar
	left int64
}

// NewPart returns the Part of so much work, which add adds to the Bar.
func NewPart(add func(n int64), work int64) *Part { return &Part{add, work} }

// Add adds n to the work that is done, or what is left.
func (p *Part) Add(n int64) {
	n = min(n, p.left)
	p.left -= n
	p.add(n)
}

// Done adds what is left.
func (p *Part) Done() { p.Add(p.left) }
