package cloud_test

import (
	"os"
	"testing"

	"github.com/sievetable/sievetable/table/cloud/s3test"
)

func TestMain(m *testing.M) {
	s3test.ServeIfAsked()
	os.Exit(m.Run())
}
