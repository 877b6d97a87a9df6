/** Bounds of every list of records. */

/** Items of a page. */
export const pageSizeDefault = 20
export const pageSizeMax = 100

/** Characters of a text to search for, at least. */
export const searchLengthMin = 2
