import { type Evidence, type EvidenceWord, plainWords } from './evidence.ts';

/**
 * Objects whose methods start processes, under the names that are read without their import; and those that lend all
 * globals.
 */
const owners =
  '(?<![\\w$])(?:child_process|childProcess|cp|shelljs|Bun|globalThis|window|global|self|top|parent|frames|defaultView)';
/** White space, a new line's mark in the diff, and what may stand between an object and its member. */
const gap = '[\\s+?!)]{0,30}';
const member = `${owners}${gap}\\.|\\*/${gap}\\.|\\.\\.`;

/** The name by itself, or as a member of what runs processes: `pattern.exec` is another function. */
function runner(text: string, endings: string): EvidenceWord {
  return { text, form: new RegExp(`(?:(?<![\\w$.])|(?<=${member}))${text}${endings}(?![\\w$])`, 'y') };
}

function alone(text: string, after = ''): EvidenceWord {
  return { text, form: new RegExp(`(?<![\\w$])${text}(?![\\w$])${after}`, 'y') };
}

/** A timer that is handed a function runs no text. */
const noFunction =
  '(?!\\s{0,8}\\([\\s+]{0,60}(?:async\\b|function\\b|\\([^()\'"`]{0,60}\\)[^\\n=]{0,30}=>|[\\w$]{1,60}\\s{0,8}=>))';
const typed = '(?!(?<=[\\w$]\\??: Function)(?<!\\?\\s[^\\n]{0,80})(?:;|\\)(?!\\s*\\()))';

/** Wherever `javascriptHits` finds something, one of these stands. */
export const javascriptEvidence: Evidence = {
  words: [
    alone('eval'),
    runner('exec', '(?:Sync|File|FileSync)?'),
    runner('spawn', '(?:Sync)?'),
    { text: 'fork', form: new RegExp(`(?<=${member})fork(?![\\w$])`, 'y') },
    alone('execScript'),
    {
      text: 'Function',
      form: new RegExp(`(?<=(?<![\\w$])(?:Async|Generator|AsyncGenerator)?)Function(?![\\w$])${typed}`, 'y'),
    },
    alone('setTimeout', noFunction),
    alone('setInterval', noFunction),
    alone('setImmediate', noFunction),
    { text: 'runIn', form: /runIn(?:New|This)?Context/y },
    ...plainWords(['compileFunction', 'execa', 'shelljs', 'node-pty']),
    alone('_compile'),
    {
      text: 'constructor',
      // A method of that name follows no dot; a comparison, an assignment and the name of a class call nothing.
      form: /(?<=\.(?:[ \t\r]|\n[+ ]?){0,40}|\/[ \t]{0,10}|["'`])constructor(?![\w$])(?!\s{0,8}(?:[!=]=|=(?![=>])|\.(?!\s{0,8}(?:constructor|call|apply|bind))))/y,
    },
    { text: 'shell', form: /(?<![\w$])shell["'`\]]{0,2}\s{0,8}[:,}=]/y },
    alone('child_process'),
    {
      text: 'data:',
      form: /(?<=import[^;]{0,80}["'`]\s{0,8})data:|data:(?:text|application)\/(?:java|ecma|type|x-java)/y,
    },
    { text: 'Worker', form: /(?<=(?<![\w$])(?:Shared)?)Worker\s{0,8}\(/y },
    // A module's name that is put together.
    {
      text: 'require',
      form: /(?<![\w$])require\s{0,8}\(\s{0,8}(?:["'][^"'\n]{0,40}["']\s{0,8}\+|`[^`\n]{0,40}\$\{|\[)/y,
    },
    { text: 'binding', form: /(?<=\.\s{0,8})binding\s{0,8}\(/y },
    ...plainWords(['Deno.Command', 'Deno.run', 'globalEval', 'isolated-vm', "'vm2'", '"vm2"', 'Reflect.get']),
    // An escaped letter in a name.
    ...['\\u00', '\\u{0', '\\u{4', '\\u{6', '\\u{7'].map((text) => ({
      text,
      form: /\\u(?:\{0{0,40}[4-7][0-9a-fA-F]\}|00[4-7][0-9a-fA-F])/y,
    })),
    ...["'vm'", '"vm"', '`vm`'].map((text) => ({ text })),
    { text: 'e:vm', form: /e:vm(?![\w$])/y },
    { text: 'vm.S', form: /(?<![\w$])vm\.S(?:cript|ourceTextModule)/y },
    ...plainWords(['globalThis[', 'window[', 'global[', 'self[']),
  ],
};
