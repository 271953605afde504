package cli

// canWrite is true: Windows tells only when one tries.
func canWrite(string) bool { return true }
