#!/bin/sh
':' //; exec node --initial-old-space-size=64 -- "$0" "$@"
// To the shell the line above starts Node; to JavaScript it is a word. Without `--` Node would run what `--env-file` of
// our arguments names. Megabytes for old objects: where V8 chooses, a thread that compiles may wait forever for a
// garbage collection of a main thread that ends (nodejs/node#54918): one in eight ends of a command that reads SQLite.
// ECMAScript 5 on purpose, so that an old Node reaches the sentence that refuses it (trailing commas of calls are newer).
'use strict';
(function () {
  var node = process.versions.node;
  var parts = node.split('.').map(Number);
  var isMinor = parts[0] === 22 ? parts[1] > 22 || (parts[1] === 22 && parts[2] >= 2) : parts[1] >= 15;
  if (!(parts[0] >= 26 || ((parts[0] === 22 || parts[0] === 24) && isMinor))) {
    var expected = 'expected Node ^22.22.2 || ^24.15.0 || >=26, found ';
    process.stderr.write('writ: NODE_UNSUPPORTED: ' + expected + node + '\n');
    process.exitCode = 128;
    return;
  }
  var fs = process.getBuiltinModule('node:fs');
  var path = process.getBuiltinModule('node:path');
  var modules = process.getBuiltinModule('node:module');
  var argv = process.argv.slice(2);
  var launcher = fs.realpathSync(process.argv[1]);
  var fromSources = fs.existsSync(path.join(launcher, '../main.ts'));
  keepCompiled();
  var isValidate = argv[0] === 'spec' && argv[1] === 'validate';
  // Short commands are one file each, of CommonJS: finding and linking modules would be most of their time.
  var files = { verify: 'verify', run: 'run', seal: 'run', resume: 'run', code: 'code' };
  var isKnown = Object.prototype.hasOwnProperty.call(files, argv[0]);
  var isVersion = argv.join() === '--version';
  var alone = isKnown ? files[argv[0]] : isValidate ? 'validate' : isVersion ? 'version' : '';
  if (alone && !fromSources)
    return modules.createRequire(launcher)('../dist/bin/' + alone + '-alone.cjs').main(argv);
  // The keyword itself would be a syntax error on the Nodes that are refused above.
  var load = new Function('specifier', 'return import(specifier)');
  load(fromSources ? './main.ts' : '../dist/bin/main.js').then(function (main) {
    main.main(argv);
  });

  /**
   * Has Node keep compiled code. Node runs it without comparing it with its source, so only this user and root may
   * write it, or replace a directory above it; a sticky one is safe. Node's default is in the temporary directory,
   * which any user can make first. Without a safe one the program starts more slowly.
   */
  function keepCompiled() {
    var home = process.env.HOME || '';
    var cache = process.env.XDG_CACHE_HOME || '';
    if (!path.isAbsolute(home)) home = process.getBuiltinModule('node:os').homedir();
    try {
      var own = path.join(path.isAbsolute(cache) ? cache : path.join(home, '.cache'), 'writ', 'compiled');
      fs.mkdirSync(own, { recursive: true, mode: 448 });
      own = fs.realpathSync(own);
      for (var at = own; ; at = path.dirname(at)) {
        var stats = fs.lstatSync(at);
        var isForeign = stats.uid !== process.getuid() && (at === own || stats.uid !== 0);
        if (isForeign || (stats.mode & 18 && (at === own || !(stats.mode & 512)))) return;
        if (at === path.dirname(at)) return modules.enableCompileCache(own);
      }
    } catch (_) {
      return;
    }
  }
})();
