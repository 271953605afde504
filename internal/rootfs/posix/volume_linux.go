package posix

// LocalVolume is true: this build is there to try the code of other systems.
func LocalVolume(int) bool { return true }
