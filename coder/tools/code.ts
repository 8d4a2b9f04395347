import type { CodeAction, CodeUse } from '../../core/contract/code-use.ts';
import type { CoderTool, ToolArgument, ToolArguments } from './tool.ts';

const path: ToolArgument = { type: 'string', says: 'file, relative to the repository' };
const line: ToolArgument = { type: 'integer', says: 'the line it stands on, from 1', optional: true };
const symbol: ToolArgument = { type: 'string', says: 'the name as it stands there, without dots' };

function codeTool(
  name: string,
  action: CodeAction,
  says: string,
  takes: CoderTool['takes'],
  toUse: (given: ToolArguments) => Omit<CodeUse, 'kind' | 'action'>,
): CoderTool {
  return {
    name,
    says,
    takes,
    wantsCode: action,
    async use(given, hands) {
      const { outcome, text } = await hands.use({ kind: 'code', action, ...toUse(given) });
      return { text: text === '' ? '[nothing]' : text, isError: outcome !== 'done' };
    },
  };
}

function atName({ path: file, line: number, symbol: name }: ToolArguments) {
  return {
    path: String(file),
    symbol: String(name),
    ...(number === undefined ? {} : { line: Number(number) }),
  };
}

/** What a language server knows of the code as it stands now, the model's own changes included. */
export const codeTools: readonly CoderTool[] = [
  codeTool('hover', 'hover', 'Type and documentation of a name.', { path, symbol, line }, atName),
  codeTool('goto_definition', 'goto-definition', 'Where a name is defined.', { path, symbol, line }, atName),
  codeTool(
    'find_references',
    'find-references',
    'Everywhere a name is used, in all files; what grep_files takes for it and is another is left out.',
    { path, symbol, line },
    atName,
  ),
  codeTool('document_symbols', 'document-symbols', 'What a file defines.', { path }, (given) => ({
    path: String(given.path),
  })),
  codeTool(
    'workspace_symbols',
    'workspace-symbols',
    'Where in the repository something of this name is defined; a part of the name will do.',
    { name: { type: 'string', says: 'the name' } },
    (given) => ({ path: '.', symbol: String(given.name) }),
  ),
  codeTool(
    'diagnostics',
    'diagnostics',
    'Errors and warnings of a file as it stands now. Ask after you changed it.',
    { path },
    (given) => ({ path: String(given.path) }),
  ),
  codeTool(
    'preview_rename',
    'preview-rename',
    'What renaming a name would change, in all files. Nothing is changed: do it with apply_patch.',
    { path, symbol, line, new_name: { type: 'string', says: 'the new name' } },
    (given) => ({ ...atName(given), newName: String(given.new_name) }),
  ),
];
