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

  var compiled = ownDirectory();
  if (compiled) process.getBuiltinModule('node:module').enableCompileCache(compiled);
  // The keyword itself would be a syntax error on the Nodes that are refused above.
  var load = new Function('specifier', 'return import(specifier)');
  var isValidate = process.argv[2] === 'spec' && process.argv[3] === 'validate';
  var alone = process.argv[2] === 'verify' ? 'verify-alone.js' : isValidate ? 'validate-alone.js' : 'main.js';
  var built = '../dist/bin/' + alone;
  load(fs.existsSync(here + 'main.ts') ? './main.ts' : built).then(function (main) {
    main.main(process.argv.slice(2));
  });

  /**
   * Where compiled code is kept: Node runs what it finds there without a look at the source, so nobody else may be able
   * to write it (Node's own choice is a directory in the temporary one, which anybody can make first). Nothing where
   * that cannot be had: the program then only starts more slowly.
   */
  function ownDirectory() {
    var path = process.getBuiltinModule('node:path');
    var home = process.env.HOME || '';
    var cache = process.env.XDG_CACHE_HOME || '';
    if (!path.isAbsolute(home)) home = process.getBuiltinModule('node:os').homedir();
    if (!path.isAbsolute(cache)) cache = path.join(home, '.cache');
    try {
      var own = path.join(cache, 'writ', 'compiled');
      fs.mkdirSync(own, { recursive: true, mode: 448 });
      own = fs.realpathSync(own);
      for (var at = own; ; at = path.dirname(at)) {
        if (!isOwn(fs.lstatSync(at), at === own)) return undefined;
        if (at === path.dirname(at)) return own;
      }
    } catch (_) {
      return undefined;
    }
  }

  /** Nobody but this user and root can put another thing in its place; a sticky directory keeps what is another's. */
  function isOwn(stats, last) {
    var user = process.getuid ? process.getuid() : stats.uid;
    var writable = process.getuid ? stats.mode & 18 : 0;
    if (stats.uid !== user && (last || stats.uid !== 0)) return false;
    return !writable || (!last && (stats.mode & 512) !== 0);
  }
})();
