// Reads {"paths": [...], "patterns": [...]} and prints, for each pattern, one
// line of 0 and 1: does npm's minimatch, with dot files, match each path?
// usage: node minimatch.js <folder that holds the package minimatch>
const { minimatch } = require(process.argv[2] + '/minimatch')
const { paths, patterns } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const line = p => paths.map(f => minimatch(f, p, { dot: true, platform: 'linux' }) ? 1 : 0).join('')
process.stdout.write(patterns.map(line).join('\n') + '\n')
