"""Texts of many kinds, for comparing two ways to one vector."""

TEXTS = [
    "hello world", "a", "The gateway waits 30 seconds, key gateway.timeout_ms",
    "小王负责支付网关，出错码 ERR_PAY_4021", "周会决定下周一上线新的索引服务", "網關每晚重新讀取設定",
    "Ａｎｎ moved to Berlin in ２０２６", "昨日は雨でした。ｶﾀｶﾅも読めます", "오늘 회의는 세 시에 시작합니다", "Сервер перезапускается ночью",
    "الخادم يعيد التشغيل ليلا", "सर्वर रात में पुनः आरंभ होता है", "Größe über Straße, naïve café", "Cafe\u0301 with a mark of its own",
    "for (i = 0; i < n; i++) sum += a[i] * b[i];", "SELECT id FROM t WHERE x = 'y' -- 0xdeadbeef",
    "emoji 🎉 and 👩\u200d👩\u200d👧 families", "tab\tand\nline\r\nends", "  blanks   in    between  ", "<s> </s> <mask> are text here",
    "https://example.org/a/b?c=d&e=%20f", "1234567890 3.14159 -2e-7", "𠮷野家 outside the BMP", "‘quotes’ — dashes… ½ ①",
    "the same words again and again " * 30, "记忆系统需要记住用户说过的话。" * 30,
]
