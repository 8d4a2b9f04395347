import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ArtifactProducer, Produced } from '../../core/contract/artifact-producer.ts';
import { declaredFormat } from '../../core/contract/declared-format.ts';
import type { AdvisoryDatabase } from '../../readers/advisories/advisory.ts';
import { readScaOptions } from '../../readers/advisories/sca-options.ts';
import { scanPackages } from '../../readers/advisories/scan-packages.ts';
import { openAdvisoryDatabase } from './advisories/open-advisory-database.ts';
import { advisoryDir } from './advisories/user-data-dir.ts';
import { billOf } from './bill.ts';
import { readCandidatePackages } from './candidate-packages.ts';
import { toCycloneDx, toJsonBytes } from './cyclonedx-document.ts';
import { databaseProperties, toVulnerabilities } from './vulnerability-report.ts';

/** Where the user's advisory database is found, and the time that its age is told by. */
export interface ScaReportOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * `sca-report`: every package of the candidate looked up in the advisories that this user imported, as a CycloneDX 1.6
 * document with `vulnerabilities` (VDR). Never over a network. Not made if a dependency file cannot be read.
 * ADVISORIES_MISSING, ADVISORIES_CORRUPT.
 */
export function createScaReportProducer({ env, clock }: ScaReportOptions): ArtifactProducer {
  const open = (): AdvisoryDatabase => {
    const database = openAdvisoryDatabase(advisoryDir(env));
    if (database === undefined) throw new WritError('ADVISORIES_MISSING');
    return database;
  };
  return {
    contentType: 'application/vnd.cyclonedx+json; version=1.6',
    extension: 'json',
    requireReady: () => void open(),
    async produce(request): Promise<Produced> {
      const { name, version = '1.6' } = declaredFormat(request.spec, 'sca-report');
      if (!['', 'json', 'cyclonedx-json'].includes(name) || version !== '1.6')
        return { unmade: 'writ makes `cyclonedx-json` (version 1.6)' };
      const options = readScaOptions(request.ruleOptions.sca ?? {});
      if ('problems' in options)
        return {
          unmade: `\`[rules.sca]\` in \`.writ/config.toml\` at the policy commit is wrong: ${options.problems.join('; ')}`,
        };
      const found = await readCandidatePackages(request, options.exclude);
      if ('unmade' in found) return found;
      const database = open();
      const nowMs = clock.now();
      const bill = billOf(request, found, nowMs);
      const properties = [...bill.properties, ...databaseProperties(database, found.packages, nowMs)];
      const document = await toCycloneDx({ ...bill, properties }, '1.6');
      const vulnerabilities = toVulnerabilities(scanPackages(found.packages, database), options, nowMs);
      return { bytes: toJsonBytes({ ...document, vulnerabilities }), madeFrom: [toThing(database)] };
    },
  };
}

function toThing({ digest }: AdvisoryDatabase) {
  return { name: 'advisories', uri: 'urn:writ:advisories', digest: { sha256: digest } };
}
