import type { ArtifactProducer } from '../../core/contract/artifact-producer.ts';
import { toCycloneDx } from './cyclonedx-document.ts';
import { demandsOtherFormat } from './demanded-format.ts';
import { findNpmProjects } from './npm/find-projects.ts';

/**
 * `sbom`: a CycloneDX 1.6 document of the candidate's npm projects, out of manifests and lockfiles alone. Nothing where there is no npm
 * project, where one cannot be described completely, or where the contract wants another format.
 */
export const sbomProducer: ArtifactProducer = {
  contentType: 'application/vnd.cyclonedx+json; version=1.6',
  extension: 'cdx.json',
  async produce(request) {
    if (demandsOtherFormat(request.spec, 'sbom', ['cyclonedx-json'])) return undefined;
    const projects = await findNpmProjects(request);
    if (projects === undefined) return undefined;
    const { locator } = request.spec.metadata.target.repo;
    const subject =
      locator
        .replace(/\/+$/, '')
        .split('/')
        .at(-1)
        ?.replace(/\.git$/, '') || 'repository';
    return toCycloneDx(projects, request.baseTimeMs, subject);
  },
};
