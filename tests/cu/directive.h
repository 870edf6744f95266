/* Parts of directives as evener-cc writes them, for the tests. */
#pragma once

#include <evener/cu_prelude.h>

#define SITE(name, schedule) static evn_cu_site name = EVN_CU_SITE(__FILE__, __LINE__, schedule)
#define LIST(name, ...)      const evn_cu_group name[] = {__VA_ARGS__}
#define COUNT(list)          ((int)(sizeof(list) / sizeof *(list)))
