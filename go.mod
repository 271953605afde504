module quarry

go 1.26
