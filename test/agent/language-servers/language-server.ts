import { realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeActions } from '../../../core/interfaces/worker.ts';
import type { Sample } from '../../engine/sample.ts';
import { everything, type Rule, rule } from '../use-workspace-tools.ts';

const modules = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const native = join(modules, '@typescript', `typescript-${process.platform}-${process.arch}`, 'lib');

/** Puts the compiler that is its own language server on the PATH of every sandbox of this process. */
export function withTypeScript(): void {
  process.env.PATH = `${realpathSync(dirname(join(native, 'tsc')))}:${process.env.PATH}`;
}

export const codeRule = (constraints: Rule['constraints'] = {}): Rule =>
  rule('workspace.lsp', codeActions, constraints);

export const withCode: readonly Rule[] = [...everything, codeRule()];

/** JavaScript that is checked as the compiler would. */
export function checkTypes({ root }: Pick<Sample, 'root'>): void {
  const compilerOptions = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    module: 'nodenext',
    noImplicitAny: false,
  };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
}
