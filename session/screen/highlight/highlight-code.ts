import hljs from 'highlight.js/lib/core';
import typescript from 'highlight.js/lib/languages/typescript';

hljs.registerLanguage('typescript', typescript);

/** Whether code of that language can be coloured. */
export function knowsLanguage(name: string): boolean {
  return hljs.getLanguage(name) !== undefined;
}
