import { type Guard, within } from './guard.ts';

/** Words of the template that nobody has agreed to. */
export const guards: readonly Guard[] = [
  ...within('engine/intent/activate-intent.ts', 'test/engine/intent/moves.test.ts', [
    [
      'a draft with the words of the template is not activated',
      '  requireOwnWords(contract.document);\n',
      '',
      'nobody agrees to the words of the template',
    ],
  ]),
  ...within('engine/spec/rules/template-words.ts', 'test/engine/spec/rules.test.ts', [
    [
      'only a draft may hold the words of the template',
      "lifecycle?.status === 'draft' ? warning : error",
      'warning',
      'every invalid fixture',
    ],
  ]),
];
