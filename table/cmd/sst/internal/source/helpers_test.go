package source

import (
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

var (
	flipAt   = filetest.Flip
	noError  = errtest.NoError
	onlyFile = filetest.OnlyFile
	writeTo  = filetest.WriteDatabase
)
