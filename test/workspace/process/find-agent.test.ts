import { chmodSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findAgent } from '../../../workspace/process/find-program.ts';

const source = {
  program: { name: 'agent-of-the-test', flag: 'agent-bin', hint: 'install it' },
  marker: 'agent.json',
  natives: { [`${process.platform}-${process.arch}`]: '@agent/native/bin/agent' },
};

t.test('a program is bound alone or with its package, in place of its start script', async (t) => {
  const root = realpathSync(
    t.testdir({
      alone: { 'agent-of-the-test': '#!/bin/sh\n', 'secret.txt': 'x' },
      package: { 'agent.json': '{}', bin: { agent: '#!/bin/sh\n' }, lib: {} },
      npm: {
        node_modules: {
          starter: { bin: { 'agent.js': '#!/usr/bin/env node\n' } },
          '@agent': { native: { 'agent.json': '{}', bin: { agent: '#!/bin/sh\n' } } },
        },
      },
      'plain.txt': 'no program',
    }),
  );
  const [alone, inPackage, starter] = [
    'alone/agent-of-the-test',
    'package/bin/agent',
    'npm/node_modules/starter/bin/agent.js',
  ].map((path) => join(root, path)) as [string, string, string];
  const native = join(root, 'npm/node_modules/@agent/native');
  for (const file of [alone, inPackage, starter, join(native, 'bin/agent')]) chmodSync(file, 0o755);
  const one = {
    program: '/agent/agent-of-the-test',
    bind: { source: alone, target: '/agent/agent-of-the-test', writable: false },
  };
  t.same(findAgent(source, { 'agent-bin': alone }), one);
  t.same(findAgent(source, {}, join(root, 'alone')), one, 'found on PATH');
  t.same(findAgent(source, { 'agent-bin': inPackage }), {
    program: '/agent/bin/agent',
    bind: { source: join(root, 'package'), target: '/agent', writable: false },
  });
  t.same(findAgent(source, { 'agent-bin': starter }), {
    program: '/agent/bin/agent',
    bind: { source: native, target: '/agent', writable: false },
  });
  for (const wanted of ['nothing-like-it', join(root, 'none'), join(root, 'plain.txt'), root, './relative'])
    t.throws(() => findAgent(source, { 'agent-bin': wanted }, ''), {
      code: 'AGENT_UNAVAILABLE',
      hints: ['install it', 'name it: `--agent-bin PATH`'],
    });
});
