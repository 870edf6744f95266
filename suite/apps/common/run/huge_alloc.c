/* Memory for fields. */
#include "common/run/huge_alloc.h"
#include <stdlib.h>
#include <sys/mman.h>

void *room(size_t bytes) {
    const size_t page = (size_t)1 << 21;
    void *block;
    if (posix_memalign(&block, bytes >= page ? page : 64, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= page)
        madvise(block, bytes / page * page, MADV_HUGEPAGE); /* advice: may be refused */
#endif
    return block;
}
