import type { LogConfig } from '../../core/contract/sealing-config.ts';
import { repositoryPathFault } from './repository-path.ts';
import { readServiceUrl } from './service-url.ts';
import type { TableReader } from './table-reader.ts';

/** Reads `[log]`. A log without a trusted root to check it against is refused, and so is one said in two ways. */
export function readLogSection(reader: TableReader): LogConfig {
  const url = readServiceUrl(reader, 'url');
  const api = reader.has('api') ? reader.text('api', 'v2') : undefined;
  const signingConfig = readPath(reader, 'signing_config');
  const trustedRoot = readPath(reader, 'trusted_root');
  const mirror = reader.has('mirror') ? reader.text('mirror', 'git') : undefined;
  if (mirror !== undefined && mirror !== 'git') reader.refuse(reader.at('mirror'), 'expected `git`');
  const isSaid = reader.keys().includes('url');
  if (api !== undefined && api !== 'v1' && api !== 'v2')
    reader.refuse(reader.at('api'), 'expected `v1` or `v2`');
  if (isSaid && api === undefined) reader.refuse(reader.at('api'), 'expected `v1` or `v2` beside `url`');
  if (!isSaid && api !== undefined)
    reader.refuse(reader.at('api'), 'says how to speak to `url`, which is missing');
  if (isSaid && signingConfig !== undefined)
    reader.refuse(reader.at('signing_config'), 'expected either `url` or `signing_config`');
  if ((isSaid || signingConfig !== undefined) && trustedRoot === undefined)
    reader.refuse(
      reader.at('trusted_root'),
      'expected a trusted root: without one no answer could be checked',
    );
  reader.end();
  return {
    ...(mirror === 'git' ? { mirror } : {}),
    ...(url !== undefined && (api === 'v1' || api === 'v2') ? { service: { url, api } } : {}),
    ...(signingConfig === undefined ? {} : { signingConfig }),
    ...(trustedRoot === undefined ? {} : { trustedRoot }),
  };
}

function readPath(reader: TableReader, key: string): string | undefined {
  if (!reader.has(key)) return undefined;
  const path = reader.text(key, '');
  if (path === '') return undefined;
  // Below `.writ/` nothing can be changed by a patch, so that is a good place for anchors.
  const fault = repositoryPathFault(path.replace(/^\.writ\/trust\//, ''));
  if (fault !== undefined) reader.refuse(reader.at(key), fault);
  return path;
}
