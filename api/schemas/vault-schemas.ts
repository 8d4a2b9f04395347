import type { JsonData } from '../json-data.ts';
import { flag, list, record, text } from './shape.ts';

const vault = { enum: ['repository', 'global'] } as const;

/** Shapes of `data` of the `vault` commands; never a value. */
export const vaultShapes: Readonly<Record<string, JsonData>> = {
  'vault set': record({ name: text, vault, replaced: flag, scopes: list(text) }),
  'vault list': record({ secrets: list(record({ name: text, vault, scopes: list(text) })) }),
  'vault rm': record({ name: text, vault }),
};
