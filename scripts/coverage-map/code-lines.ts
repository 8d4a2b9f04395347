import { stripTypeScriptTypes } from 'node:module';
import { scanSource } from '../../test/architecture/scan-source.ts';

/** Numbers of the lines on which something stands once types and comments are gone; braces alone do not count. */
export function codeLines(path: string, text: string): readonly number[] {
  const { code } = scanSource(path.endsWith('.ts') ? stripTypeScriptTypes(text) : text);
  return code.split('\n').flatMap((line, index) => (/[\w$'"`]/.test(line) ? [index + 1] : []));
}
