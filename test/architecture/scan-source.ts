/** A source file without what only looks like code. */
export interface ScannedSource {
  /** The text with comments, string contents and regular expressions blanked; line breaks stay. */
  readonly code: string;
  /** Specifiers of `import`, `export … from`, `import()` and `require()`, in order. */
  readonly specifiers: readonly string[];
  /** The same with when it is loaded: with the importing module, when asked for, or never. */
  readonly imports: readonly { readonly specifier: string; readonly kind: 'static' | 'dynamic' | 'type' }[];
}

const regexAfter =
  /(?:^|[=(,:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|await|yield|void|delete|throw))\s*$/;
const specifierAfter = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*$/;

/** Scans TypeScript or JavaScript. Knows comments, strings, templates and regular expressions; nothing else. */
export function scanSource(text: string): ScannedSource {
  const imports: { specifier: string; kind: 'static' | 'dynamic' | 'type' }[] = [];
  let code = '';
  let at = 0;
  const blank = (end: number) => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const endOf = (close: string, from: number) => {
    for (let i = from; i < text.length; i++) {
      if (text[i] === '\\') i++;
      else if (text[i] === close) return i;
    }
    return text.length;
  };
  const tail = () => code.slice(-200);
  /** Code up to the brace that closes a template's `${`, or to the end of the text. */
  const scanCode = (inTemplate: boolean): void => {
    let depth = 0;
    while (at < text.length) {
      const c = text[at];
      const next = text[at + 1];
      if (c === '/' && next === '/') {
        const feed = text.indexOf('\n', at);
        blank(feed === -1 ? text.length : feed);
      } else if (c === '/' && next === '*') {
        const close = text.indexOf('*/', at + 2);
        blank(close === -1 ? text.length : close + 2);
      } else if (c === '/' && regexAfter.test(tail())) {
        blank(endOfRegex(text, at));
      } else if (c === "'" || c === '"') {
        const isSpecifier = specifierAfter.test(tail());
        const end = endOf(c, at + 1);
        if (isSpecifier) imports.push({ specifier: text.slice(at + 1, end), kind: kindOf(code) });
        code += c;
        at++;
        blank(end);
        code += text[at++] ?? '';
      } else if (c === '`') {
        scanTemplate();
      } else {
        if (c === '{') depth++;
        if (c === '}' && inTemplate && depth-- === 0) return;
        else if (c === '}' && !inTemplate) depth--;
        code += c;
        at++;
      }
    }
  };
  const scanTemplate = (): void => {
    const isSpecifier = specifierAfter.test(tail());
    const start = at + 1;
    code += '`';
    at++;
    while (at < text.length && text[at] !== '`') {
      if (text[at] === '\\') blank(Math.min(text.length, at + 2));
      else if (text[at] === '$' && text[at + 1] === '{') {
        code += '${';
        at += 2;
        scanCode(true);
        code += text[at++] ?? '';
      } else blank(at + 1);
    }
    if (isSpecifier) imports.push({ specifier: text.slice(start, at), kind: 'dynamic' });
    code += text[at++] ?? '';
  };
  scanCode(false);
  return { code, imports, specifiers: imports.map((one) => one.specifier) };
}

/** Of the import whose specifier follows `code`. Only `import type` leaves nothing behind at run time. */
function kindOf(code: string): 'static' | 'dynamic' | 'type' {
  if (/\(\s*$/.test(code.slice(-200))) return 'dynamic';
  const statement = code.slice(Math.max(code.lastIndexOf('import'), code.lastIndexOf('export')));
  return /^(?:import|export)\s+type\b(?!\s+from\b)/.test(statement) ? 'type' : 'static';
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  for (let i = start + 1; i < text.length; i++) {
    const c = text[i];
    if (c === '\n') return start + 1;
    if (c === '\\') i++;
    else if (c === '[') inClass = true;
    else if (c === ']') inClass = false;
    else if (c === '/' && !inClass) return i + 1;
  }
  return text.length;
}
