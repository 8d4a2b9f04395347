import type { ArtifactProducer } from '../../core/contract/artifact-producer.ts';
import { declaredFormat } from '../../core/contract/declared-format.ts';
import { readExclude } from '../../readers/advisories/sca-options.ts';
import { billOf } from './bill.ts';
import { readCandidatePackages } from './candidate-packages.ts';
import { toCycloneDx, toJsonBytes } from './cyclonedx-document.ts';
import { toSpdx } from './spdx-document.ts';

/**
 * `sbom`: all dependency files of the candidate as CycloneDX 1.6 (or 1.7) or SPDX 2.3 JSON, whichever the contract
 * declares. Not made where one of them cannot be read. A tree without any gives the project alone, and says that it had
 * none.
 */
export const sbomProducer: ArtifactProducer = {
  contentType: 'application/vnd.cyclonedx+json; version=1.6',
  extension: 'json',
  async produce(request) {
    const { name, version = '' } = declaredFormat(request.spec, 'sbom');
    const isSpdx = name === 'spdx-json' && (version === '' || version === '2.3');
    const isCycloneDx =
      (name === '' || name === 'cyclonedx-json' || name === 'json') && /^(?:1\.[67])?$/.test(version);
    if (!isSpdx && !isCycloneDx)
      return { unmade: 'writ makes `cyclonedx-json` (version 1.6 or 1.7) and `spdx-json` (version 2.3)' };
    const { exclude, problem } = readExclude(request.ruleOptions.sbom ?? {});
    if (problem !== undefined)
      return {
        unmade: `\`[rules.sbom]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
      };
    const found = await readCandidatePackages(request, exclude);
    if ('unmade' in found) return found;
    const bill = billOf(request, found, request.baseTimeMs);
    return toJsonBytes(
      isSpdx ? await toSpdx(bill) : await toCycloneDx(bill, version === '1.7' ? '1.7' : '1.6'),
    );
  },
};
