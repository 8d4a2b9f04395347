#!/usr/bin/env node
// biome-ignore-all lint: ECMAScript 5 on purpose, so that an old Node reaches the sentence that refuses it.
// biome-ignore-all format: trailing commas of calls are newer than ECMAScript 5.
(function () {
  var found = /^(\d+)\.(\d+)\.(\d+)/.exec(process.versions.node) || ['', '0', '0', '0'];
  var major = Number(found[1]);
  var minor = Number(found[2]);
  var patch = Number(found[3]);
  var supported =
    major >= 26 ||
    (major === 24 && minor >= 15) ||
    (major === 22 && (minor > 22 || (minor === 22 && patch >= 2)));
  if (!supported) {
    var range = '^22.22.2 || ^24.15.0 || >=26';
    process.stderr.write(
      'writ: NODE_UNSUPPORTED: expected Node ' + range + ', found ' + process.versions.node + '\n',
    );
    process.exitCode = 128;
    return;
  }

  var fs = process.getBuiltinModule('node:fs');
  var here = fs.realpathSync(process.argv[1]).replace(/[^/\\]*$/, '');
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    process.stdout.write(JSON.parse(fs.readFileSync(here + '../package.json', 'utf8')).version + '\n');
    return;
  }

  process.getBuiltinModule('node:module').enableCompileCache();
  // The keyword itself would be a syntax error on the Nodes that are refused above.
  var load = new Function('specifier', 'return import(specifier)');
  load(fs.existsSync(here + 'main.ts') ? './main.ts' : '../dist/bin/main.js').then(function (main) {
    main.main(process.argv.slice(2));
  });
})();
