import type { Rule } from '../../core/interfaces/rule.ts';
import { manifestGlobs } from '../judge-changed/judging-parts.ts';

export const meta: Rule = {
  id: 'judge-changed',
  point: 'patch',
  module: new URL('./judge-changed.ts', import.meta.url),
  linear: true,
  judgesWhole: true,
  readsJudge: true,
  reads: manifestGlobs,
  scan: { needsBothSides: true, asked: 'where-named' },
  text: {
    about: 'What checks execute to judge changes only under a review.',
    help: 'Let a person approve the change, or leave scripts and configuration of checks as they are.',
    securitySeverity: '7.0',
    tags: ['security', 'supply-chain'],
  },
};
