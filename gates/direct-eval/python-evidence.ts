import { wordSearch } from '../../readers/anchors/word-search.ts';
import { type Evidence, plainWords } from './evidence.ts';

/** Wherever `pythonHits` finds something, one of these stands. */
export const pythonEvidence: Evidence = {
  // Full-width and mathematical letters, which Python reads as plain ones.
  search: wordSearch(['\xef\xbd', '\xf0\x9d']),
  words: [
    { text: 'eval', form: /(?<![\w.])eval(?!\w)/y },
    { text: 'exec', form: /(?<![\w.])exec(?:file)?(?!\w)|(?<!\w)exec(?:_(?!\w)|[lv])/y },
    // `compile` runs nothing but in a mode that is written down.
    { text: 'single', form: /(?<=["'])single(?=["'])/y },
    { text: 'system', form: /(?<!\w)system(?!\w)/y },
    { text: 'popen', form: /(?<!\w)popen/y },
    { text: 'shell', form: /(?<!\w)shell["']?\s{0,8}[=:]/y },
    { text: 'globals', form: /(?<!\w)globals\s{0,8}\(/y },
    ...plainWords([
      'Popen',
      'check_output',
      'check_call',
      'getoutput',
      'statusoutput',
      'subprocess',
      'builtins',
    ]),
    { text: 'profile', form: /(?<=(?:import|from)\s{1,4})profile(?!\w)|(?<![\w.])profile\.(?:run|Profile)/y },
    ...plainWords(['cProfile', 'timeit', 'runpy', 'pdb.', 'import pdb', 'from pdb', 'bdb.', 'Trace(']),
    ...plainWords(['interact', 'Interactive', 'runsource', 'runcode', 'compile_command']),
    ...plainWords(['attrgetter', 'methodcaller', 'CDLL', 'cdll', 'windll', 'LoadLibrary']),
    ...plainWords(['getattr', 'import_module', '__import__', 'spawn', 'sh.Command']),
  ],
};
