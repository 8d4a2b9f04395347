/** The smallest documents that each format accepts; tests take members away or change them. */
export const sarif = {
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'scanner', rules: [] as unknown[] } }, results: [] as unknown[] }],
};

export const spdx = {
  spdxVersion: 'SPDX-2.3',
  dataLicense: 'CC0-1.0',
  SPDXID: 'SPDXRef-DOCUMENT',
  name: 'orders',
  documentNamespace: 'https://example.com/spdx/orders-1',
  creationInfo: { created: '2026-01-02T03:04:05Z', creators: ['Tool: maker-1.0'] },
  packages: [
    { SPDXID: 'SPDXRef-a', name: 'a', downloadLocation: 'NOASSERTION' },
    { SPDXID: 'SPDXRef-b', name: 'b', downloadLocation: 'NONE' },
  ],
};

export const cyclonedx = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79',
  version: 1,
  metadata: { component: { type: 'application', name: 'orders', 'bom-ref': 'orders' } },
  components: [
    {
      type: 'library',
      name: 'a',
      'bom-ref': 'a',
      components: [{ type: 'file', name: 'inner', 'bom-ref': 'i' }],
    },
  ],
  dependencies: [{ ref: 'orders', dependsOn: ['a'] }],
};

export const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'commit', digest: { gitCommit: 'ab'.repeat(20) } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {},
};

export const inclusionProof = {
  logIndex: '2',
  rootHash: 'ab'.repeat(32),
  treeSize: 5,
  hashes: ['cd'.repeat(32), Buffer.alloc(32, 7).toString('base64')],
};

/** A document as bytes. */
export function toBytes(document: unknown): Buffer {
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
}

/** An envelope over a payload. */
export function envelope(payload: unknown, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    payloadType: 'application/vnd.in-toto+json',
    payload: toBytes(payload).toString('base64'),
    signatures: [{ sig: 'MEUCIQ==', keyid: '' }],
    ...changes,
  };
}
