/** By lockfile name, the manifest in the same directory that it follows into scope (4-resolutions, Scope). */
export const lockfileManifests: Readonly<Record<string, string | undefined>> = Object.assign(
  Object.create(null),
  {
    'package-lock.json': 'package.json',
    'pnpm-lock.yaml': 'package.json',
    'yarn.lock': 'package.json',
    'go.sum': 'go.mod',
    'poetry.lock': 'pyproject.toml',
    'uv.lock': 'pyproject.toml',
    'Cargo.lock': 'Cargo.toml',
  },
);
