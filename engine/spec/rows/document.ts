import { always, inSection } from '../contract-row.ts';

export const documentRows = inSection('Top level', [
  {
    id: 'apiVersion',
    path: '/apiVersion',
    rule: 'the form is judged; `v1alpha1` is planned and run, other versions are refused',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'kind',
    path: '/kind',
    rule: 'the constant `IntentSpec`',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'extensions',
    path: '/extensions',
    rule: 'open, kept in the digest, affects no gate decision; other than `<vendor>/<key>` is a warning',
    asks: (spec) => Object.keys(spec.extensions).length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'document#strict',
    path: '',
    rule: 'strict JSON within 4 MiB and 64 levels, with line and column of the first fault',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#unknown-properties',
    path: '',
    rule: 'unknown properties are refused everywhere but in open objects',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#defaults',
    path: '',
    rule: 'defaults are applied before use and never before the digest',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#all-issues',
    path: '',
    rule: 'every issue is reported at once, with code and JSON Pointer, in the order of the document',
    asks: always,
    enforcedBy: 'core',
  },
]);
