import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { viewOfHost } from '../../../plugins/sandbox/host-view.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { casesOf } from '../../rooms/long.ts';
import { openScene, outputOf, type Scene } from './sandbox-scene.ts';

/** What each manager starts: the version that the project names, of those in its own directory. */
const asdf = `#!/bin/bash
version=$(sed -n "s/^nodejs //p" .tool-versions)
shift; program=$1; shift
exec "\${ASDF_DATA_DIR:-$HOME/.asdf}/installs/nodejs/$version/bin/$program" "$@"
`;
const mise = `#!/bin/bash
exec "\${MISE_DATA_DIR:-$HOME/.local/share/mise}/installs/go/latest/bin/\${0##*/}" "$@"
`;
const pyenvShim = (root: string): string => `#!/usr/bin/env bash
set -e
program="\${0##*/}"
export PYENV_ROOT="${root}"
exec "${root}/libexec/pyenv" exec "$program" "$@"
`;
const pyenv = `#!/usr/bin/env bash
exec "$PYENV_ROOT/versions/$(cat .python-version 2>/dev/null || cat "$PYENV_ROOT/version")/bin/$2"
`;

/** A home with the directories of nvm, asdf, mise, pyenv and cargo as they make them, and secrets in some. */
function layOut({ home, facts }: Scene) {
  const write = (file: string, text: string): void => {
    const place = path.join(home, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
    chmodSync(place, 0o755);
  };
  const says = (file: string, text: string): void => write(file, `#!/bin/sh\necho ${text}\n`);
  says('.nvm/versions/node/v22.1.0/bin/npm', 'npm of nvm');
  write('.nvm/versions/node/v22.1.0/etc/npmrc', 'token');
  write('.asdf/bin/asdf', asdf);
  write(
    '.asdf/shims/prettier',
    `#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\nexec ${home}/.asdf/bin/asdf exec "prettier" "$@" # asdf_allow: ' asdf '\n`,
  );
  says('.asdf/installs/nodejs/20.1.0/bin/prettier', 'prettier of asdf');
  write('.asdf/installs/nodejs/20.1.0/.npmrc', 'token');
  write('.asdf/.git/config', 'token');
  write('.local/bin/mise', mise);
  mkdirSync(path.join(home, '.local/share/mise/shims'), { recursive: true });
  symlinkSync(path.join(home, '.local/bin/mise'), path.join(home, '.local/share/mise/shims/gofmt'));
  says('.local/share/mise/installs/go/1.22.0/bin/gofmt', 'gofmt of mise');
  symlinkSync('1.22.0', path.join(home, '.local/share/mise/installs/go/latest'));
  write('.pyenv/libexec/pyenv', pyenv);
  write('.pyenv/shims/pytest', pyenvShim(path.join(home, '.pyenv')));
  for (const version of ['3.11.7', '3.12.1'])
    says(`.pyenv/versions/${version}/bin/pytest`, `pytest of ${version}`);
  write('.pyenv/versions/3.11.7/pip.conf', 'token');
  write('.pyenv/version', '3.11.7');
  says('.cargo/bin/cargo-nextest', 'nextest');
  write('.cargo/credentials.toml', 'token');
  const directories = [
    '.nvm/versions/node/v22.1.0/bin',
    '.asdf/shims',
    '.local/share/mise/shims',
    '.local/bin',
    '.pyenv/shims',
    '.cargo/bin',
  ];
  return {
    ...facts,
    path: [...directories.map((one) => path.join(home, one)), '/usr/bin', '/bin'].join(':'),
  };
}

const secrets =
  '.nvm/versions/node/v22.1.0/etc/npmrc .asdf/installs/nodejs/20.1.0/.npmrc .asdf/.git/config .pyenv/versions/3.11.7/pip.conf .cargo/credentials.toml';

for (const [name, make] of casesOf({ bubblewrap: bubblewrapSandbox, unshare: unshareSandbox }, [
  'bubblewrap',
])) {
  t.test(
    `in ${name}, programs of toolchain managers start as PATH names them, without their secrets`,
    async (t) => {
      const scene = openScene(t);
      const backend = make(layOut(scene));
      if (!(await backend.probe()).works) return;
      const script = `echo nodejs 20.1.0 >.tool-versions
npm; prettier; gofmt; pytest; echo 3.12.1 >.python-version; pytest; cargo-nextest
cd ${scene.home}; for file in ${secrets}; do cat $file 2>/dev/null; done
touch .pyenv/x 2>/dev/null || echo read-only; ls -A`;
      const result = await scene.run(backend, script);
      t.strictSame(outputOf(result).split('\n'), [
        ...[
          'npm of nvm',
          'prettier of asdf',
          'gofmt of mise',
          'pytest of 3.11.7',
          'pytest of 3.12.1',
          'nextest',
        ],
        ...['read-only', '.asdf', '.cargo', '.local', '.nvm', '.pyenv'],
      ]);
    },
  );
}

t.test('a directory `shims` in the home, or of nothing that holds versions, shows only itself', (t) => {
  const { home, facts } = openScene(t);
  for (const directory of ['shims', 'versions', 'other/shims', '.ssh'])
    mkdirSync(path.join(home, directory), { recursive: true });
  const view = viewOfHost({ ...facts, home, path: `${home}/shims:${home}/other/shims` });
  t.notOk(view.toolchains.includes(home));
  t.notOk(view.toolchains.includes(path.join(home, 'other')));
  t.end();
});
