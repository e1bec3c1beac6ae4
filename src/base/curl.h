/*
 * libcurl's functions as pointers, filled at first use by dlopen(). Private
 * to base/http.c.
 */
#ifndef BASE_CURL_H
#define BASE_CURL_H

#include <curl/curl.h>

#include "base/err.h"

struct curl_api {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *easy);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list,
					   const char *line);
	void (*slist_free_all)(struct curl_slist *list);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_cleanup)(CURLM *multi);
	CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *extra,
				unsigned extra_count, int timeout_ms,
				int *ready);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	const char *(*multi_strerror)(CURLMcode code);
};

/* The table, made once for the process. REMEM_ENOTSUP: no usable libcurl. */
int curl_api_get(const struct curl_api **out, struct remem_err *err);

#endif
