import { regionHash, regionHashBefore31 } from 'triscope/region';
import { describe, expect, it } from 'vitest';

describe('the hash of a region', () => {
  it.each([
    ['A', 0xd3d99e8b],
    ['B', 0x4ad0cf31],
    ['compute_A', 0xcce45a1e],
    ['dgemm', 0xa12de8ee],
    ['sleep', 0x0f33c2ac],
    ['MPI_Allreduce', 0xac41a07e],
    ['MPI_Init_thread', 0x5d545077],
    ['solve halo/é', 0x242dcf54],
    ['', 0],
  ])('of %s is GEOPM 3.1’s', (name, hash) => {
    expect(regionHash(name)).toBe(hash);
  });

  it.each([
    ['MPI_Allreduce', 0x0d94e328],
    ['MPI_Waitall', 0x9b88f62c],
    ['network_network', 0x2602d1d1],
    ['memory_region', 0xb01fbe6e],
    ['sleep', 0x536c798f],
    ['stream', 0xd691da00],
    ['dgemm', 0xa74bbf35],
  ])('of %s was another before 3.1', (name, hash) => {
    expect(regionHashBefore31(name)).toBe(hash);
  });
});
