import type { Exceptions } from "./rules/size.ts"
export const files: Exceptions = {}
export const functions: Exceptions = {}
export const folders: Exceptions = {}
