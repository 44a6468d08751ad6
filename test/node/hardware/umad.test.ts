/**
 * What is written to a umad device. There is none here: a named pipe gives back what is written to it, and a library
 * before libc says yes to its ioctls, and keeps the bytes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folder } from './support.ts';

const CC = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

const SHIM = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void keep(const char *what, const void *bytes, size_t n) {
  int fd = open(getenv(what), O_WRONLY | O_CREAT | O_APPEND, 0600);
  syscall(SYS_write, fd, bytes, n);
  close(fd);
}
int ioctl(int fd, unsigned long request, ...) {
  va_list list; va_start(list, request); void *argument = va_arg(list, void *); va_end(list);
  if ((request >> 8 & 0xff) != 0x1b) return syscall(SYS_ioctl, fd, request, argument);
  keep("KEPT_IOCTLS", &request, 4);
  if ((uint32_t)request == 0xc01c1b01) { keep("KEPT_IOCTLS", argument, 28); *(uint32_t *)argument = 7; }
  return 0;
}
ssize_t write(int fd, const void *bytes, size_t n) {
  if (n == 320) keep("KEPT_WRITES", bytes, n);
  return syscall(SYS_write, fd, bytes, n);
}
`;

it.skipIf(!CC)('a datagram goes out behind the header that user_mad documents (needs cc)', () => {
  const at = (name: string) => join(folder, name);
  writeFileSync(at('shim.c'), SHIM);
  execFileSync('cc', ['-shared', '-fPIC', '-o', at('shim.so'), at('shim.c')]);
  execFileSync('mkfifo', [at('umad')]);
  const dist = (path: string) =>
    JSON.stringify(fileURLToPath(new URL(`../../../dist/${path}`, import.meta.url)));
  const script = `
    const { Umad } = await import(${dist('os/umad.js')});
    const { request } = await import(${dist('node/hardware/mad.js')});
    const umad = new Umad(${JSON.stringify(at('umad'))});
    const agent = { queuePair: 1, managementClass: 4, classVersion: 1 };
    for (const lid of [18, 0x1234]) {
      const datagram = request(agent, 0x1d, 0);
      const back = umad.exchange(agent, lid, datagram);
      if (Buffer.compare(back, datagram) !== 0) throw new Error('not the bytes that were sent');
    }
    umad.close();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      ...process.env,
      LD_PRELOAD: at('shim.so'),
      KEPT_IOCTLS: at('ioctls'),
      KEPT_WRITES: at('writes'),
    },
  });

  const ioctls = readFileSync(at('ioctls'));
  // ENABLE_PKEY; then one agent for both: queue pair 1, class 4, version 1, no methods of its own.
  expect(ioctls.length).toBe(4 + 4 + 28);
  expect(ioctls.readUInt32LE(0)).toBe(0x1b03);
  expect([...ioctls.subarray(8 + 4, 8 + 20)].every((byte) => byte === 0)).toBe(true);
  expect([...ioctls.subarray(8 + 20, 8 + 23)]).toEqual([1, 4, 1]);

  const writes = readFileSync(at('writes'));
  expect(writes.length).toBe(2 * 320);
  for (const [k, lid] of [18, 0x1234].entries()) {
    const header = writes.subarray(320 * k, 320 * k + 64);
    // Agent 7, 100 ms, 2 retries.
    expect([0, 4, 8, 12].map((where) => header.readUInt32LE(where))).toEqual([7, 0, 100, 2]);
    // To queue pair 1 with the well-known key, at this LID.
    expect(header.readUInt32BE(20)).toBe(1);
    expect(header.readUInt32BE(24)).toBe(0x80010000);
    expect(header.readUInt16BE(28)).toBe(lid);
    expect(header.subarray(30).every((byte) => byte === 0)).toBe(true);
  }
  const transactions = [0, 1].map((k) => writes.readUInt32BE(320 * k + 64 + 12));
  expect(transactions[1]).not.toBe(transactions[0]);
});
