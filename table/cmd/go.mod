module github.com/sievetable/sievetable/table/cmd

go 1.25.0

require (
	github.com/cheggaaa/pb/v3 v3.1.7 // later ones build tables for 60 ms whenever sst starts
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
	github.com/dustin/go-humanize v1.0.1
	github.com/gofrs/flock v0.13.0
	github.com/golang/snappy v1.0.0
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.17.11
	github.com/rogpeppe/go-internal v1.16.0
	github.com/sievetable/sievetable v0.1.0
	github.com/sievetable/sievetable/filter/blocked v0.1.0
	github.com/sievetable/sievetable/filter/fuse v0.1.0
	github.com/sievetable/sievetable/filter/paged v0.1.0
	github.com/sievetable/sievetable/table/codecs v0.1.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/syndtr/goleveldb v1.0.1-0.20220721030215-126854af5e6d
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/mod v0.27.0
	golang.org/x/sync v0.22.0
	golang.org/x/sys v0.37.0
	golang.org/x/term v0.28.0
	gonum.org/v1/gonum v0.17.0
	gonum.org/v1/plot v0.17.0
)

require golang.org/x/image v0.30.0

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/fatih/color v1.18.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/text v0.28.0 // indirect
	golang.org/x/tools v0.36.0 // indirect
)
